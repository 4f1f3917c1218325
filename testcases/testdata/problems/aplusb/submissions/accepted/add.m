#import <Foundation/Foundation.h>

int main(void) {
    NSAutoreleasePool *pool = [[NSAutoreleasePool alloc] init];
    long long a, b;
    if (scanf("%lld %lld", &a, &b) != 2) return 1;
    NSNumber *sum = [NSNumber numberWithLongLong:a + b];
    printf("%s\n", [[sum description] UTF8String]);
    [pool release];
    return 0;
}
