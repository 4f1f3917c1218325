exec cat
