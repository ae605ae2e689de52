/* Parts of the collection that need no files: sums, --where, rows as CSV, recipes of the program. */
#include "base/sha256.h"
#include "collection/recipe.h"
#include "collection/where.h"

#include "kit.h"

TEST(sums_are_those_of_fips_180)
{
    // the examples of the standard, and a text longer than one block and a half
    static const struct {
        const char *text, *sum;
    } cases[] = {{"", "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"},
                 {"abc", "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"},
                 {"abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq",
                  "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1"}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char text[65];
        ss_sha256 sum = ss_sha256_start();
        ss_sha256_add(&sum, cases[i].text, strlen(cases[i].text));
        ss_sha256_print(&sum, text);
        ENSURE_TEXT(text, cases[i].sum);
    }
    char text[65];
    ss_sha256 sum = ss_sha256_start();
    for (int i = 0; i < 1000000; i++) ss_sha256_add(&sum, "a", 1);
    ss_sha256_print(&sum, text);
    ENSURE_TEXT(text, "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0");
}

/* ---- where ------------------------------------------------------------------------------------------ */

static const ss_collection_row wall = {.id = "walls/wall/0",
                                       .family = "walls",
                                       .scene = "brick-wall",
                                       .contacts = 60,
                                       .sliding = 0.25,
                                       .rank = NAN,
                                       .level = "backward",
                                       .solvable = 1};

/* 1, 0, or -1 for a text that is not understood. */
static int holds(const char *text)
{
    ss_error err = {0};
    ss_where *where = ss_where_read(text, &err);
    if (!where) printf("%s\n", err.message);
    int answer = where ? ss_where_holds(where, &wall) : -1;
    ss_where_free(where);
    return answer;
}

TEST(and_binds_before_or_and_not_before_both)
{
    ENSURE_INT(holds("contacts=60"), 1);
    ENSURE_INT(holds("contacts = 1 and contacts = 2 or contacts = 60"), 1);
    ENSURE_INT(holds("contacts = 1 and (contacts = 2 or contacts = 60)"), 0);
    ENSURE_INT(holds("not contacts<10 and sliding>0.2"), 1);
    ENSURE_INT(holds("NOT (contacts<10 OR sliding>0.2)"), 0);
    ENSURE_INT(holds("not not contacts>=60"), 1);
    ENSURE_INT(holds("contacts<=6e1 and contacts!=61 and contacts==60"), 1);
}

TEST(texts_are_equal_or_contain_and_levels_are_a_ladder)
{
    ENSURE_INT(holds("family=walls and scene~'brick' and scene!=\"box drop\""), 1);
    ENSURE_INT(holds("family=Walls"), 0); // names are exact
    ENSURE_INT(holds("level>=backward and level<exact and level!=none and level~back"), 1);
    ENSURE_INT(holds("level>backward"), 0);
}

TEST(what_is_not_known_fulfils_no_comparison)
{
    ENSURE_INT(holds("rank<1") && !holds("rank>=1") && !holds("rank=1") && !holds("rank!=1"), 0);
    ENSURE_INT(holds("not rank<1"), 1);
}

TEST(mistakes_in_where_are_named)
{
    static const struct {
        const char *text, *message;
    } cases[] = {{"contacs<3", "did you mean contacts?"},
                 {"contacts<", "expected a value"},
                 {"contacts 3", "expected <, <="},
                 {"contacts<many", "a number after contacts"},
                 {"family<walls", "which is a text"},
                 {"contacts~6", "which is a number"},
                 {"level>=backwards", "did you mean backward?"},
                 {"(contacts<3", "closing bracket"},
                 {"contacts<3 sliding>1", "expected and, or, or the end"},
                 {"", "ends too early"},
                 {"and", "unknown column 'and'"}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        ss_error err = {0};
        ENSURE(!ss_where_read(cases[i].text, &err));
        ENSURE_INT(err.code, SS_ERROR_USAGE);
        ENSURE(strstr(err.message, cases[i].message) != NULL);
    }
    ss_text deep = {0};
    ss_error err = {0};
    for (int i = 0; i < 10000; i++) ss_text_append(&deep, "(");
    ENSURE(!ss_where_read(ss_text_get(&deep), &err)); // and no stack overflow
    ss_text_free(&deep);
}

/* ---- rows ------------------------------------------------------------------------------------------- */

TEST(rows_come_back_from_csv_and_a_line_that_is_cut_off_is_left_out)
{
    ss_collection_index index;
    ss_text csv = {0};
    ENSURE(ss_index_create(&index, NULL));
    ss_collection_row row = wall;
    row.hash = "00", row.sequence = "wall", row.file = "walls/a, \"b\".h5", row.bound = 0x1.23456789abcdep-40;
    row.frame = 7;
    ss_index_csv_head(&csv);
    ss_index_csv_row(&csv, &row);
    ss_index_csv_row(&csv, &row);
    ENSURE(ss_index_read(&index, csv.data, csv.length - 5, "a.csv", NULL));
    ENSURE_INT(index.count, 1);
    ENSURE_TEXT(index.rows[0].file, row.file);
    ENSURE(index.rows[0].bound == row.bound && isnan(index.rows[0].rank));
    ENSURE_INT(index.rows[0].frame, 7);

    ss_error err = {0};
    static const char broken[] = "id,family,sequence,file,contacts\nx,y,z,f,many\n";
    ENSURE(!ss_index_read(&index, broken, sizeof broken - 1, "a.csv", &err));
    ENSURE(strstr(err.message, "a.csv: line 2: contacts: \"many\"") != NULL);
    ss_text_free(&csv);
    ss_index_free(&index);
}

/* ---- recipes ---------------------------------------------------------------------------------------- */

TEST(the_recipes_of_the_program_hold_what_was_promised)
{
    static const char *const families[] = {
        "stacks",   "walls",     "arches",   "spheres",    "rocks",       "logs",  "chains",      "vehicles",
        "grasps",   "conveyors", "machines", "stick-slip", "isotropy",    "creep", "mass-ratios", "scales",
        "friction", "redundant", "painleve", "impacts",    "no-solution", "planar"};
    ss_recipes recipes;
    ss_error err = {0};
    bool good = ss_recipes_read(&recipes, NULL, &err);
    if (!good) printf("%s\n", err.message);
    ENSURE(good);
    int problems = 0;
    for (int i = 0; i < recipes.sequence_count; i++) problems += recipes.sequences[i].frames;
    ENSURE(problems >= 1000);
    for (size_t k = 0; k < sizeof families / sizeof *families; k++) {
        bool found = false;
        for (int f = 0; f < recipes.family_count; f++)
            found = found || strcmp(recipes.families[f].name, families[k]) == 0;
        if (!found) printf("%s\n", families[k]);
        ENSURE(found);
    }
    ss_recipes_free(&recipes);
}

TEST_MAIN
