# pROC's and ROCR's areas under curves, asked as docs/other_tools_situations does: a line for each, question | call | number.
suppressMessages({library(pROC); library(ROCR)})

for (key in c("auc-tie", "auc-apart")) {
  flags <- c(1, 0)
  scores <- if (key == "auc-tie") c(1, 1) else c(1, 0)
  of_proc <- pROC::auc(pROC::roc(flags, scores, levels = c(0, 1), direction = "<"))
  of_rocr <- performance(prediction(scores, flags), "auc")@y.values[[1]]
  cat(key, "pROC: auc", format(as.numeric(of_proc), digits = 17), sep = "|")
  cat("\n")
  cat(key, "ROCR: auc", format(of_rocr, digits = 17), sep = "|")
  cat("\n")
}
