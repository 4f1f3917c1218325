program grader;
uses shout, shoutlib;
var i, o: text; line: string;
begin
  assign(i, 'input.txt'); reset(i); readln(i, line);
  assign(o, 'output.txt'); rewrite(o); writeln(o, checked(loud(line))); close(o);
end.
