/* The one function that Rust's standard library wants of bcryptprimitives.dll, which Wine has had since version 9 only.
   It lies beside the program while models are compared, and is shipped with nothing. */
__declspec(dllimport) unsigned char __stdcall SystemFunction036(void *to, unsigned long n_bytes);

__declspec(dllexport) int __stdcall ProcessPrng(unsigned char *to, unsigned long long n_bytes) {
    while (n_bytes > 0) {
        unsigned long part = n_bytes > 65536 ? 65536 : (unsigned long)n_bytes;
        if (!SystemFunction036(to, part)) return 0;
        to += part;
        n_bytes -= part;
    }
    return 1;
}
