let () =
  let kept = ref [] in
  while true do kept := Bytes.make 1000000 'x' :: !kept done
