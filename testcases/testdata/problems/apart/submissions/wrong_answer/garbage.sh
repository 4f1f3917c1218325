head -c 4000 /dev/urandom
