puts [expr [join [regexp -all -inline -- {-?\d+} [read stdin]] +]]
