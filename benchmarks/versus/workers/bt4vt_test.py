"""bt4vt's bias test of a score file. Arguments: scores, configuration."""

import sys

from bt4vt.core import SpeakerBiasTest

SpeakerBiasTest(sys.argv[1], sys.argv[2]).run_tests()
