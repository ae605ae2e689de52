/* The smallest program on an installed stickslip: test_install.sh builds it in three ways. */
#include <stdio.h>
#include <stickslip/base.h>

int main(void)
{
    ss_random random = ss_random_start(1, 0);
    double number = ss_random_real(&random);
    printf("stickslip %s\n", ss_version());
    return number >= 0 && number < 1 ? 0 : 1;
}
