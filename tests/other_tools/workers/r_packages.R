# pROC, ROCR and cutpointr: reads set, mated, score; writes a line for each answer: name, set, numbers.
suppressMessages({library(pROC); library(ROCR); library(cutpointr)})
threshold <- 2
table <- read.csv(commandArgs(trailingOnly = TRUE)[1])

say <- function(name, k, numbers) cat(name, k, format(numbers, digits = 17), "\n")

for (k in unique(table$set)) {
  mated <- table$mated[table$set == k]
  score <- table$score[table$set == k]
  word <- ifelse(mated == 1, "genuine", "impostor")
  curve <- pROC::roc(mated, score, levels = c(0, 1), direction = "<")
  rates <- pROC::coords(curve, "all", ret = c("fpr", "fnr"), transpose = FALSE)
  say("proc-roc", k, c(rates$fpr, rates$fnr))
  of_words <- suppressMessages(pROC::roc(word, score))
  rates <- pROC::coords(of_words, threshold - 0.5, ret = c("fpr", "fnr"), transpose = FALSE)
  say("proc-words", k, c(rates$fpr, rates$fnr))
  rates <- performance(prediction(score, mated), "fpr", "fnr")
  say("rocr-roc", k, c(rev(rates@y.values[[1]]), rev(rates@x.values[[1]])))
  found <- prediction(score, word)
  reached <- sum(found@cutoffs[[1]] >= threshold)
  say("rocr-words", k, c(found@fp[[1]][reached] / sum(mated == 1), found@fn[[1]][reached] / sum(mated == 0)))
  best <- suppressMessages(cutpointr(x = score, class = mated, pos_class = 1, direction = ">=", metric = youden))
  cutpoint <- best$optimal_cutpoint[[1]]
  say("cutpointr-youden", k, (mean(score[mated == 0] >= cutpoint) + mean(score[mated == 1] < cutpoint)) / 2)
}
