(let ((kept nil))
  (loop (push (make-array 100000 :initial-element 1) kept)))
