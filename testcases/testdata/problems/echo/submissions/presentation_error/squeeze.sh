# Squeezes blanks.
exec tr -s ' '
