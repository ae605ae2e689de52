#include "cli/program.h"

int main(int argc, char **argv)
{
    return ss_program_main(argc, argv);
}
