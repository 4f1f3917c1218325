my @kept;
push @kept, 'x' x 1000000 while 1;
