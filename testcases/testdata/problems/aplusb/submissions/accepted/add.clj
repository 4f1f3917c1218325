(println (reduce + (map #(Long/parseLong %) (re-seq #"-?\d+" (slurp *in*)))))
