#include "liblinear.h"
int main(void) { return DONE(); }
