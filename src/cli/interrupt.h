/* cli/interrupt.h - Ctrl-C for verbs that work in worker processes (campaign/pool.h): whether these end is
 * decided by the verb, which prints what was done. */
#ifndef SS_CLI_INTERRUPT_H
#define SS_CLI_INTERRUPT_H

/* From now on SIGINT, SIGTERM and SIGHUP are noted; under nohup that stays nohup. A file over the size limit
 * is a write that fails. */
void ss_interrupt_listen(void);
/* Not zero once a signal came. */
const volatile int *ss_interrupt_flag(void);
/* Dies of the signal that came, so that a shell sees what happened. */
void ss_interrupt_die(void);

#endif
