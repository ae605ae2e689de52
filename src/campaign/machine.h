/* campaign/machine.h - provenance: what runs are made on, and with which code. */
#ifndef SS_CAMPAIGN_MACHINE_H
#define SS_CAMPAIGN_MACHINE_H

#include "campaign/ledger.h"

/* This machine and this program. */
bool ss_machine_here(ss_machine *machine, ss_error *err);
void ss_machine_clear(ss_machine *machine);

/* 32 hex digits of the bytes of a file. */
bool ss_file_digest(const char *path, char text[33], ss_error *err);

/* The core to measure on: the last one this process may use; -1 when the system does not tell. */
int ss_quiet_core(void);
/* Cores this process may use, at least 1. */
int ss_core_count(void);

#endif
