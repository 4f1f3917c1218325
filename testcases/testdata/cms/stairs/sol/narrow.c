/* @check-accepted: subtask0 few
   @check-zero: many */
#include <stdio.h>
int main(void) {
    int n, a = 1, b = 1;
    scanf("%d", &n);
    for (int i = 0; i < n; i++) { int c = (int)((unsigned)a + (unsigned)b); a = b; b = c; }
    printf("%d stairs\n%d ways\n", n, a);
    return 0;
}
