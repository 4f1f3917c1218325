(loop [kept []] (recur (conj kept (int-array 100000))))
