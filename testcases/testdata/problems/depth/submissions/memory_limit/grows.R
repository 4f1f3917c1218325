kept <- list()
repeat kept[[length(kept) + 1]] <- rep(1, 100000)
