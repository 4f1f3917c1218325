unit shoutlib;
interface
function checked(s: string): string;
implementation
function checked(s: string): string;
begin checked := s; end;
end.
