use strict;
use warnings;
my ($a, $b) = split ' ', join ' ', <STDIN>;
{ use integer; print $a + $b, "\n"; }
