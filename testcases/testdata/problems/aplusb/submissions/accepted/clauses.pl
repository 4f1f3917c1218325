:- use_module(library(readutil)).

main :-
    read_stream_to_codes(user_input, Codes),
    split_string(Codes, " \n", " \n", Words),
    exclude(==(""), Words, [A, B]),
    number_string(X, A),
    number_string(Y, B),
    Z is X + Y,
    writeln(Z).
