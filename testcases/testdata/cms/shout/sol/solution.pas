unit shout;
interface
function loud(s: string): string;
implementation
function loud(s: string): string;
begin loud := upcase(s); end;
end.
