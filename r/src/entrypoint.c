/* R looks for its entry point here; the engine registers its functions by itself. */
void R_init_rosenblatt_r_extendr(void *library);

void R_init_rosenblatt(void *library)
{
    R_init_rosenblatt_r_extendr(library);
}
