#include "shout.h"
#include <ctype.h>
void shout(char *line) { for (; *line; line++) *line = (char)toupper((unsigned char)*line); }
