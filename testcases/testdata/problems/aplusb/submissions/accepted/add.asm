; a + b with the C library
        global  main
        extern  scanf, printf

        section .rodata
in:     db      "%ld %ld", 0
out:    db      "%ld", 10, 0

        section .text
main:   sub     rsp, 24
        lea     rdi, [in]
        lea     rsi, [rsp]
        lea     rdx, [rsp + 8]
        xor     eax, eax
        call    scanf
        mov     rsi, [rsp]
        add     rsi, [rsp + 8]
        lea     rdi, [out]
        xor     eax, eax
        call    printf
        xor     eax, eax
        add     rsp, 24
        ret
