#ifdef __cplusplus
extern "C"
#endif
void shout(char *line);
