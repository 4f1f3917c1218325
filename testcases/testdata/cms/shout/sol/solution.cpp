#include "shout.h"
#include <cctype>
void shout(char *line) { for (; *line; line++) *line = (char)std::toupper((unsigned char)*line); }
