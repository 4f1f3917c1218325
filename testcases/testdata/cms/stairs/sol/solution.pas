program stairs;
{$ifndef EVAL}{$fatal EVAL must be defined}{$endif}
var n, i: longint; a, b, c: int64;
begin
  readln(n);
  a := 1; b := 1;
  for i := 1 to n do begin c := a + b; a := b; b := c; end;
  writeln(n, ' stairs');
  writeln(a, ' ways');
end.
