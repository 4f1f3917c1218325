with Ada.Text_IO; use Ada.Text_IO;

procedure Add is
   package IO is new Ada.Text_IO.Integer_IO (Long_Long_Integer);
   A, B : Long_Long_Integer;
begin
   IO.Get (A);
   IO.Get (B);
   IO.Put (A + B, Width => 0);
   New_Line;
end Add;
