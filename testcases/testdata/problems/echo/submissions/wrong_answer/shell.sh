# The shell drops NUL bytes.
text=$(cat; echo x) 2>/dev/null
printf %s "${text%x}"
