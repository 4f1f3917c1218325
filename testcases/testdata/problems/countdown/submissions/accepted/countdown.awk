{ for (n = $1; n > 0; n--) print n }
