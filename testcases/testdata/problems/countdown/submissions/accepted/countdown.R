n <- scan(file("stdin"), quiet = TRUE)
cat(n:1, sep = "\n")
