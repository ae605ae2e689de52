#include <stickslip/base.h>

#include "base/assert.h"
#include "base/number.h"
#include "base/text.h"
#include "base/words.h"

#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

/* ---- fields: memcpy, because a struct filled by hand may hold anything, even a bool that is neither ---- */

static void store(const ss_option *option, void *options, const void *value, size_t size)
{
    memcpy((char *)options + option->offset, value, size);
}

static void load(const ss_option *option, const void *options, void *value, size_t size)
{
    memcpy(value, (const char *)options + option->offset, size);
}

static int load_int(const ss_option *option, const void *options)
{
    int value;
    load(option, options, &value, sizeof value);
    return value;
}

static double load_real(const ss_option *option, const void *options)
{
    double value;
    load(option, options, &value, sizeof value);
    return value;
}

static const char *load_text(const ss_option *option, const void *options)
{
    const char *value;
    load(option, options, &value, sizeof value);
    return value;
}

static ss_option_list *list_of(const ss_option *option, void *options)
{
    return (ss_option_list *)(void *)((char *)options + option->offset);
}

static const ss_option_list *const_list_of(const ss_option *option, const void *options)
{
    return (const ss_option_list *)(const void *)((const char *)options + option->offset);
}

static unsigned char load_bool(const ss_option *option, const void *options)
{
    _Static_assert(sizeof(bool) == 1, "a bool is looked at as a byte");
    unsigned char value;
    load(option, options, &value, sizeof value);
    return value;
}

/* ---- choices: "preventive|zero|stabilised" ---------------------------------------------------------- */

/* Start of choice `index` and its length; NULL past the last. */
static const char *choice_at(const ss_option *option, int index, size_t *length)
{
    const char *choice = option->choices;
    if (!choice || index < 0) return NULL;
    for (; index > 0; index--) {
        choice = strchr(choice, '|');
        if (!choice) return NULL;
        choice++;
    }
    *length = strcspn(choice, "|");
    return choice;
}

/* ---- what would be right ---------------------------------------------------------------------------- */

static bool has_range(const ss_option *option)
{
    return option->min != 0.0 || option->max != 0.0;
}

static double lower_limit(const ss_option *option)
{
    double lowest = option->type == SS_OPTION_INT ? (double)INT_MIN : -HUGE_VAL;
    return has_range(option) && option->min > lowest ? option->min : lowest;
}

static double upper_limit(const ss_option *option)
{
    double highest = option->type == SS_OPTION_INT ? (double)INT_MAX : HUGE_VAL;
    return has_range(option) && option->max < highest ? option->max : highest;
}

static bool in_range(const ss_option *option, double value)
{
    if (!has_range(option)) return isfinite(value);
    return value >= option->min && value <= option->max; // false for NaN
}

typedef struct range_text {
    char text[2 * SS_NUMBER_TEXT + 32];
} range_text;

static range_text describe_range(const ss_option *option)
{
    char low[SS_NUMBER_TEXT], high[SS_NUMBER_TEXT];
    low[ss_number_write(lower_limit(option), low)] = '\0';
    high[ss_number_write(upper_limit(option), high)] = '\0';
    bool from = has_range(option) && option->min == lower_limit(option) && isfinite(option->min);
    bool to = has_range(option) && option->max == upper_limit(option) && isfinite(option->max);
    range_text range = {""};
    if (from && to)
        snprintf(range.text, sizeof range.text, " from %s to %s", low, high);
    else if (from)
        snprintf(range.text, sizeof range.text, ", %s or more", low);
    else if (to)
        snprintf(range.text, sizeof range.text, ", %s or less", high);
    return range;
}

/* Fails with: invalid value "3" for omega: expected a number from 0 to 2 */
static bool fail_value(const ss_option *option, const char *value, ss_error *err)
{
    // What would be right.
    ss_text what = {0};
    switch (option->type) {
    case SS_OPTION_BOOL:
        ss_text_append(&what, "true or false");
        break;
    case SS_OPTION_INT:
        ss_text_appendf(&what, "a whole number%s", describe_range(option).text);
        break;
    case SS_OPTION_REAL:
        ss_text_appendf(&what, "a number%s", describe_range(option).text);
        break;
    case SS_OPTION_CHOICE: {
        ss_nearest nearest = ss_nearest_start(value);
        size_t length;
        const char *choice;
        for (int i = 0; (choice = choice_at(option, i, &length)); i++)
            ss_nearest_offer_part(&nearest, choice, length);
        ss_text_appendf(&what, "one of %s", option->choices);
        if (nearest.best)
            ss_text_appendf(&what, "; did you mean %.*s?", (int)nearest.best_length, nearest.best);
        break;
    }
    case SS_OPTION_TEXT:
        ss_text_append(&what, "a non-empty text");
        break;
    case SS_OPTION_LIST:
        ss_text_appendf(&what, "a non-empty text, given at most %d times", SS_OPTION_LIST_MOST);
        break;
    }

    ss_fail(err, SS_ERROR_USAGE, "invalid value \"%.200s\" for %s: expected %s", value, option->name,
            ss_text_get(&what));
    ss_text_free(&what);
    return false;
}

/* ---- parsing ---------------------------------------------------------------------------------------- */

static bool set_value(const ss_option *option, void *options, const char *value)
{
    static const char *const truths[2][4] = {{"false", "no", "0", "off"}, {"true", "yes", "1", "on"}};
    int whole;
    double number;
    if (value[0] == '\0') return false;
    switch (option->type) {
    case SS_OPTION_BOOL:
        for (int truth = 0; truth < 2; truth++)
            for (int i = 0; i < 4; i++) {
                if (strcmp(value, truths[truth][i]) != 0) continue;
                store(option, options, &(bool){truth == 1}, sizeof(bool));
                return true;
            }
        return false;
    case SS_OPTION_INT:
        if (!ss_integer_read(value, &whole) || !in_range(option, whole)) return false;
        store(option, options, &whole, sizeof whole);
        return true;
    case SS_OPTION_REAL:
        if (!ss_number_read(value, &number) || !in_range(option, number)) return false;
        store(option, options, &number, sizeof number);
        return true;
    case SS_OPTION_CHOICE: {
        size_t length;
        const char *choice;
        for (int i = 0; (choice = choice_at(option, i, &length)); i++) {
            if (strlen(value) != length || memcmp(choice, value, length) != 0) continue;
            store(option, options, &i, sizeof i);
            return true;
        }
        return false;
    }
    case SS_OPTION_TEXT:
        store(option, options, &value, sizeof value);
        return true;
    case SS_OPTION_LIST: {
        ss_option_list *list = list_of(option, options);
        if (list->count >= SS_OPTION_LIST_MOST) return false;
        list->items[list->count++] = value;
        return true;
    }
    }
    return false;
}

void ss_options_defaults(const ss_option *table, void *options)
{
    static const double zero = 0.0;
    static const char *const no_text = NULL;
    for (const ss_option *option = table; option && option->name; option++) {
        // Nothing first: zero, false, no text; a list is only ever added to.
        switch (option->type) {
        case SS_OPTION_BOOL:
            store(option, options, &(bool){false}, sizeof(bool));
            break;
        case SS_OPTION_INT:
        case SS_OPTION_CHOICE:
            store(option, options, &(int){0}, sizeof(int));
            break;
        case SS_OPTION_REAL:
            store(option, options, &zero, sizeof zero);
            break;
        case SS_OPTION_TEXT:
            store(option, options, &no_text, sizeof no_text);
            break;
        case SS_OPTION_LIST:
            *list_of(option, options) = (ss_option_list){0};
            break;
        }

        bool fits = !option->default_value || set_value(option, options, option->default_value);
        SS_ASSERT(fits); // a table whose default is outside its own range
        (void)fits;
    }
}

const ss_option *ss_options_find(const ss_option *table, const char *name)
{
    for (const ss_option *option = table; option && option->name; option++)
        if (strcmp(option->name, name) == 0) return option;
    return NULL;
}

bool ss_options_set(const ss_option *table, void *options, const char *name, const char *value, ss_error *err)
{
    const ss_option *found = ss_options_find(table, name);
    if (found) return set_value(found, options, value) || fail_value(found, value, err);
    ss_unknown unknown = ss_unknown_start("option", name);
    for (const ss_option *option = table; option && option->name; option++)
        ss_unknown_offer(&unknown, option->name);
    return ss_unknown_fail(&unknown, err);
}

bool ss_options_assign(const ss_option *table, void *options, const char *assignment, ss_error *err)
{
    char name[200];
    size_t length = strcspn(assignment, "=");
    if (assignment[length] == '\0' || length == 0)
        return ss_fail(err, SS_ERROR_USAGE, "invalid assignment \"%.200s\": expected NAME=VALUE", assignment);
    snprintf(name, sizeof name, "%.*s", (int)(length < sizeof name ? length : sizeof name - 1), assignment);
    return ss_options_set(table, options, name, assignment + length + 1, err);
}

bool ss_options_check(const ss_option *table, const void *options, ss_error *err)
{
    for (const ss_option *option = table; option && option->name; option++) {
        // A struct that was filled by hand may hold anything.
        bool fits = true;
        size_t length;
        switch (option->type) {
        case SS_OPTION_BOOL:
            fits = load_bool(option, options) <= 1;
            break;
        case SS_OPTION_INT:
            fits = in_range(option, load_int(option, options));
            break;
        case SS_OPTION_REAL:
            fits = in_range(option, load_real(option, options));
            break;
        case SS_OPTION_CHOICE:
            fits = choice_at(option, load_int(option, options), &length) != NULL;
            break;
        case SS_OPTION_TEXT:
            break;
        case SS_OPTION_LIST:
            fits = const_list_of(option, options)->count >= 0 &&
                   const_list_of(option, options)->count <= SS_OPTION_LIST_MOST;
            break;
        }
        if (fits) continue;
        char text[64];
        ss_option_print(option, options, text, sizeof text);
        return fail_value(option, text, err);
    }
    return true;
}

/* ---- printing --------------------------------------------------------------------------------------- */

int ss_option_print(const ss_option *option, const void *options, char *text, size_t size)
{
    char number[SS_NUMBER_TEXT];
    const char *words;
    size_t length = 0;
    switch (option->type) {
    case SS_OPTION_BOOL:
        return snprintf(text, size, "%s", load_bool(option, options) ? "true" : "false");
    case SS_OPTION_INT:
        return snprintf(text, size, "%d", load_int(option, options));
    case SS_OPTION_REAL:
        return snprintf(text, size, "%.*s", ss_number_write(load_real(option, options), number), number);
    case SS_OPTION_CHOICE: // an index that names no choice is printed as the number it is
        words = choice_at(option, load_int(option, options), &length);
        return words ? snprintf(text, size, "%.*s", (int)length, words)
                     : snprintf(text, size, "%d", load_int(option, options));
    case SS_OPTION_LIST: { // "a=1,b=2"; a count out of range prints nothing
        const ss_option_list *list = const_list_of(option, options);
        if (size) text[0] = '\0';
        for (int i = 0; i < list->count && list->count <= SS_OPTION_LIST_MOST; i++) {
            size_t used = length < size ? length : size;
            length += (size_t)snprintf(size ? text + used : NULL, size - used, "%s%s", i ? "," : "",
                                       list->items[i]);
        }
        return (int)length;
    }
    case SS_OPTION_TEXT:
        break;
    }
    words = load_text(option, options);
    return snprintf(text, size, "%s", words ? words : "");
}

int ss_options_print(const ss_option *table, const void *options, char *text, size_t size)
{
    size_t length = 0;
    if (size) text[0] = '\0';
    for (const ss_option *option = table; option && option->name; option++) {
        // What is not set is left out.
        if (option->type == SS_OPTION_TEXT && !load_text(option, options)) continue;
        if (option->type == SS_OPTION_LIST && const_list_of(option, options)->count == 0) continue;
        size_t used = length < size ? length : size;
        int head = snprintf(size ? text + used : NULL, size - used, "%s%s=", length ? " " : "", option->name);
        length += (size_t)head;
        used = length < size ? length : size;
        length += (size_t)ss_option_print(option, options, size ? text + used : NULL, size - used);
    }
    return (int)length;
}
