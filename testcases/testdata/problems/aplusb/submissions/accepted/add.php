<?php
[$a, $b] = preg_split('/\s+/', trim(stream_get_contents(STDIN)));
echo (int)$a + (int)$b, "\n";
