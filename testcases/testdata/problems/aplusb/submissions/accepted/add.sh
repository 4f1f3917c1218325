# The two numbers may stand on one line or on two.
set -- $(cat)
echo $(($1 + $2))
