/* Reading .obj, .stl and .poly: what they may hold, and every way in which they can be wrong. */
#include <stickslip/model.h>

#include "faults.h"
#include "kit.h"
#include "meshes.h"
#include "model/expression.h"

/* ---- writing, as other programs do ------------------------------------------------------------------ */

static void write_obj(const ss_mesh *mesh, FILE *file)
{
    for (int i = 0; i < mesh->vertex_count; i++)
        fprintf(file, "v %.17g %.17g %.17g\n", mesh->vertex[i][0], mesh->vertex[i][1], mesh->vertex[i][2]);
    for (int f = 0; f < mesh->face_count; f++)
        fprintf(file, "f %d %d %d\n", mesh->face[f][0] + 1, mesh->face[f][1] + 1, mesh->face[f][2] + 1);
}

static void write_poly(const ss_mesh *mesh, FILE *file)
{
    fprintf(file, "# a mesh\n%d\n", mesh->vertex_count);
    for (int i = 0; i < mesh->vertex_count; i++)
        fprintf(file, "%d [%.17g; %.17g; %.17g];\n", i + 1, mesh->vertex[i][0], mesh->vertex[i][1],
                mesh->vertex[i][2]);
    fprintf(file, "\n%d %% faces\n", mesh->face_count);
    for (int f = 0; f < mesh->face_count; f++)
        fprintf(file, "%d %d %d\n", mesh->face[f][0] + 1, mesh->face[f][1] + 1, mesh->face[f][2] + 1);
}

static void write_text_stl(const ss_mesh *mesh, FILE *file)
{
    fprintf(file, "solid of some name\n");
    for (int f = 0; f < mesh->face_count; f++) {
        fprintf(file, "  facet normal nan nan nan\n    outer loop\n");
        for (int k = 0; k < 3; k++) {
            const double *v = mesh->vertex[mesh->face[f][k]];
            fprintf(file, "      vertex %.17g %.17g %.17g\n", v[0], v[1], v[2]);
        }
        fprintf(file, "    endloop\n  endfacet\n");
    }
    fprintf(file, "endsolid of some name\n");
}

/* Coordinates become single precision. */
static void write_binary_stl(const ss_mesh *mesh, FILE *file)
{
    char header[80] = "solid is how some programs begin a binary file";
    uint32_t count = (uint32_t)mesh->face_count;
    fwrite(header, 1, sizeof header, file);
    fwrite(&count, sizeof count, 1, file); // this machine is little-endian, as is the format
    for (int f = 0; f < mesh->face_count; f++) {
        float numbers[12] = {0};
        for (int k = 0; k < 9; k++) numbers[3 + k] = (float)mesh->vertex[mesh->face[f][k / 3]][k % 3];
        fwrite(numbers, sizeof numbers, 1, file);
        fwrite("\0", 1, 2, file);
    }
}

static ss_mesh *there_and_back(const ss_mesh *mesh, const char *suffix,
                               void (*write)(const ss_mesh *mesh, FILE *file), ss_error *err)
{
    scratch s = scratch_open();
    snprintf(s.file, sizeof s.file, "%s/part.%s", s.directory, suffix);
    FILE *file = fopen(s.file, "wb");
    write(mesh, file);
    fclose(file);
    ss_mesh *back = ss_mesh_read(s.file, err);
    scratch_close(&s);
    return back;
}

/* ---- round trips ------------------------------------------------------------------------------------ */

TEST(a_mesh_comes_back_from_obj_and_poly_bit_for_bit)
{
    ss_mesh *mesh = ss_mesh_ball(2, 0.7, NULL);
    ss_mesh *obj = there_and_back(mesh, "obj", write_obj, NULL);
    ss_mesh *poly = there_and_back(mesh, "POLY", write_poly, NULL);
    ENSURE(obj && mesh_equal(mesh, obj));
    ENSURE(poly && mesh_equal(mesh, poly));
    ss_mesh_destroy(mesh);
    ss_mesh_destroy(obj);
    ss_mesh_destroy(poly);
}

TEST(stl_joins_its_corners_to_the_vertices_they_were)
{
    ss_mesh *mesh = ss_mesh_ball(3, 0.7, NULL);
    ss_mesh *text = there_and_back(mesh, "stl", write_text_stl, NULL);
    ss_mesh *binary = there_and_back(mesh, "stl", write_binary_stl, NULL);
    ENSURE(text && text->vertex_count == mesh->vertex_count && text->face_count == mesh->face_count);
    ENSURE(mesh_is_clean(text));
    ENSURE_NEAR(ss_mesh_mass(text, 1.0).mass, ss_mesh_mass(mesh, 1.0).mass, 1e-14);
    ENSURE(binary && binary->vertex_count == mesh->vertex_count);
    ENSURE(mesh_is_clean(binary));
    ENSURE_NEAR(ss_mesh_mass(binary, 1.0).mass, ss_mesh_mass(mesh, 1.0).mass, 1e-7); // single precision
    ss_mesh_destroy(mesh);
    ss_mesh_destroy(text);
    ss_mesh_destroy(binary);
}

TEST(zero_and_minus_zero_are_the_same_corner)
{
    ss_mesh *mesh =
        mesh_from_text("stl",
                       "solid\nfacet normal 0 0 1\nouter loop\nvertex 0 0 0\nvertex 1 0 -0\n"
                       "vertex 0 1 0\nendloop\nendfacet\nfacet normal 0 0 1\nouter loop\n"
                       "vertex -0 -0 -0\nvertex 1 -0 0\nvertex 0 0 1\nendloop\nendfacet\nendsolid\n",
                       NULL);
    ENSURE(mesh && mesh->vertex_count == 4);
    ss_mesh_destroy(mesh);
}

/* ---- what the formats allow ------------------------------------------------------------------------- */

TEST(obj_knows_slashes_negative_numbers_long_lines_and_other_ends_of_lines)
{
    static const char text[] = "# a tetrahedron\r\nmtllib x.mtl\r\no thing\r\nv 0 0 0 1.0\r\nv 1 0 0\r\n"
                               "v 0 1 0 # comment\r\nv 0 0 1\r\nvn 0 0 1\r\nvt 0 0\r\nusemtl red\r\n"
                               "f 1/1/1 3//2 \\\r\n 2/1\r\nf 1 2 -1\r\nf -4 -1 -2\r\nf 2 3 4";
    ss_error err = {0};
    ss_mesh *mesh = mesh_from_text("obj", text, &err);
    ENSURE_TEXT(err.message, "");
    ENSURE(mesh && mesh->vertex_count == 4 && mesh->face_count == 4);
    ENSURE(mesh_is_clean(mesh));
    ENSURE_NEAR(ss_mesh_mass(mesh, 1.0).mass, 1.0 / 6.0, 1e-16);
    ss_mesh_destroy(mesh);
}

TEST(a_face_may_stand_before_its_vertices)
{
    ss_mesh *mesh = mesh_from_text("obj", "f 1 2 3\nv 0 0 0\nv 1 0 0\nv 0 1 0\n", NULL);
    ENSURE(mesh && mesh->face_count == 1);
    ss_mesh_destroy(mesh);
}

TEST(polygons_are_cut_into_triangles_also_dented_ones)
{
    // an L, starting at each of its corners in turn: a fan is right from two of them only
    static const double outline[6][2] = {{0, 0}, {2, 0}, {2, 1}, {1, 1}, {1, 2}, {0, 2}};
    for (int start = 0; start < 6; start++) {
        char text[400];
        int n = 0;
        for (int i = 0; i < 6; i++)
            n += snprintf(text + n, sizeof text - (size_t)n, "v %g %g 3\n", outline[i][0], outline[i][1]);
        n += snprintf(text + n, sizeof text - (size_t)n, "f");
        for (int i = 0; i < 6; i++)
            n += snprintf(text + n, sizeof text - (size_t)n, " %d", (start + i) % 6 + 1);
        ss_mesh *mesh = mesh_from_text("obj", text, NULL);
        ENSURE(mesh && mesh->face_count == 4);
        double area = 0.0, least = 1.0;
        for (int f = 0; f < 4; f++) {
            const double *a = mesh->vertex[mesh->face[f][0]], *b = mesh->vertex[mesh->face[f][1]];
            const double *c = mesh->vertex[mesh->face[f][2]];
            double twice = (b[0] - a[0]) * (c[1] - a[1]) - (b[1] - a[1]) * (c[0] - a[0]);
            area += 0.5 * twice;
            least = fmin(least, twice);
        }
        ENSURE_NEAR(area, 3.0, 1e-15);
        ENSURE(least > 0.0); // no triangle turned over, none without an area
        ss_mesh_destroy(mesh);
    }
}

TEST(poly_knows_expressions_brackets_commas_and_counting_from_0)
{
    static const char by_hand[] =
        "# solid of RPIsim's kind\n 4 \n"
        "1 [0;0;(2/3)^0.5-1/(2*(6^0.5))];\n"
        "2 [-1/(2*(3^0.5)); -1/2; -1/(2*sqrt( 6 ))];  // second\n"
        "3 [-1/(2*(3^0.5)); 1/2; -1/(2*(6^0.5))];\n"
        "4 [1/(3^0.5); 0; -1/(2*(6^0.5))]; % last\n\n4\n1 3 2\n1 4 3\n1 2 4\n2 3 4\n";
    static const char from_zero[] = "4\n0,0,0,\n1, 0, 0,\n0 1 0\n0\t0\t1\n4\n0 2 1\n0 1 3\n0 3 2\n1 2 3\n";
    ss_error err = {0};
    ss_mesh *mesh = mesh_from_text("poly", by_hand, &err);
    ENSURE_TEXT(err.message, "");
    ENSURE(mesh && mesh_is_clean(mesh));
    ENSURE_NEAR(ss_mesh_mass(mesh, 1.0).mass, 1.0 / (6.0 * sqrt(2.0)), 1e-15);
    ss_mesh_destroy(mesh);
    mesh = mesh_from_text("poly", from_zero, &err);
    ENSURE_TEXT(err.message, "");
    ENSURE(mesh && mesh_is_clean(mesh));
    ENSURE_NEAR(ss_mesh_mass(mesh, 1.0).mass, 1.0 / 6.0, 1e-16);
    ss_mesh_destroy(mesh);
}

TEST(poly_takes_polygons_and_letters)
{
    static const char text[] =
        "8\nv -.5 -.5 -.5\nv -.5 -.5 .5\nv -.5 .5 -.5\nv -.5 .5 .5\nv .5 -.5 -.5\n"
        "v .5 -.5 .5\nv .5 .5 -.5\nv .5 .5 .5\n6\nf 1 2 4 3\n3 4 8 7\n7 8 6 5\n5 6 2 1\n"
        "6 8 4 2\n7 5 1 3";
    ss_mesh *mesh = mesh_from_text("poly", text, NULL);
    ENSURE(mesh && mesh->face_count == 12 && mesh_is_clean(mesh));
    ENSURE_NEAR(ss_mesh_mass(mesh, 1.0).mass, 1.0, 1e-15);
    ss_mesh_destroy(mesh);
}

TEST(expressions_mean_what_they_mean_in_matlab)
{
    static const struct {
        const char *text;
        double value;
    } right[] = {{"-2^2", -4},
                 {"2^3^2", 64},
                 {"2^-1", 0.5},
                 {"1/3", 1.0 / 3.0},
                 {"-(1+2)*3", -9},
                 {"1e-3", 1e-3},
                 {"2*pi/4", M_PI_2},
                 {"--1", 1},
                 {"8/2/2", 2},
                 {"1-2-3", -4},
                 {".5", 0.5},
                 {"+sqrt(16)", 4},
                 {"sqrt(2)/2", M_SQRT1_2}};
    static const char *const wrong[] = {"",    "1+",   "(1",  "1)",  "1 2",  "sqrt", "sqrt 2", "foo(1)",
                                        "1..", "0x10", "nan", "inf", "1/*2", "^2",   "e5",     "pi2"};
    char deep[300];
    double value;
    for (size_t i = 0; i < sizeof right / sizeof *right; i++) {
        ENSURE(ss_expression_read(right[i].text, &value));
        ENSURE_NEAR(value, right[i].value, 2e-16);
    }
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) ENSURE(!ss_expression_read(wrong[i], &value));
    memset(deep, '(', sizeof deep);
    deep[sizeof deep - 1] = '\0';
    ENSURE(!ss_expression_read(deep, &value));
}

/* ---- what is wrong ---------------------------------------------------------------------------------- */

#define FACET "facet normal 0 0 1\nouter loop\nvertex 0 0 0\nvertex 1 0 0\nvertex 0 1 0\nendloop\nendfacet\n"

TEST(every_fault_of_a_file_is_told_with_its_line)
{
    static const struct {
        const char *suffix, *text, *message;
    } files[] = {
        {"obj", "", "mesh.obj: holds no faces"},
        {"obj", "v 0 0 0\n", "mesh.obj: holds no faces"},
        {"obj", "\n\nv 0 0\n", "mesh.obj:3: a vertex with 2 coordinates"},
        {"obj", "v 0 zero 0\n", "mesh.obj:1: \"zero\" is not a number"},
        {"obj", "v 0 nan 0\n", "mesh.obj:1: \"nan\" is not finite"},
        {"obj", "v 0 1e999 0\n", "mesh.obj:1: \"1e999\" is not a number"},
        {"obj", "v 0 0 0\nv 1 0 0\nf 1 2\n", "mesh.obj:3: a face with 2 corners"},
        {"obj", "v 0 0 0\nf 1 1 2\n", "mesh.obj:2: vertex 2; there are 1"},
        {"obj", "v 0 0 0\nf 0 1 1\n", "mesh.obj:2: vertex 0: vertices are counted from 1"},
        {"obj", "v 0 0 0\nf -2 1 1\n", "mesh.obj:2: vertex -2, but there are only 1 before"},
        {"obj", "v 0 0 0\nf 1 1 x\n", "mesh.obj:2: \"x\" is not a vertex number"},
        {"obj", "v 0 0 0\nf 1 1 99999999999\n", "mesh.obj:2: \"99999999999\" is not a vertex number"},
        {"obj", "v 0 0 0\nf 1 1 2147483647\n", "mesh.obj:2: vertex 2147483647; there are 1"},
        {"obj", "v 0 0 0\nf 1 1 -2147483648\n", "mesh.obj:2: vertex -2147483648"},
        {"stl", "", "mesh.stl: 0 bytes; neither text nor"},
        {"stl", "solid x\nendsolid x\n", "mesh.stl: holds no faces"},
        {"stl", "solid x\n" FACET "facet normal 0 0 1\nouter loop\nvertex 0 0 0\nvertex 1 0\n",
         "mesh.stl:12: ends where a number"},
        {"stl", "solid x\nfacet normal 0 0 1\nloop\n", "mesh.stl:3: \"loop\" where \"outer\" was expected"},
        {"stl", "solid x\n" FACET "vertex 1 1 1\n", "mesh.stl:9: \"vertex\" where \"facet\" was expected"},
        {"stl", "solid x\nfacet normal 0 0 1\nouter loop\nvertex 0 inf 0\n",
         "mesh.stl:4: \"inf\" is not finite"},
        {"stl", "not an stl file at all", "mesh.stl: 22 bytes; neither text nor"},
        {"poly", "", "mesh.poly:0: ends before the number of vertices"},
        {"poly", "# nothing\n\n", "mesh.poly:2: ends before the number of vertices"},
        {"poly", "three\n", "mesh.poly:1: \"three\" is not a number of vertices"},
        {"poly", "-3\n", "mesh.poly:1: \"-3\" is not a number of vertices"},
        {"poly", "1.5\n", "mesh.poly:1: \"1.5\" is not a number of vertices"},
        {"poly", "3 4\n", "mesh.poly:1: \"4\" after the number of vertices"},
        {"poly", "1000000000\n0 0 0\n", "mesh.poly:2: ends after 1 of 1000000000 vertices"},
        {"poly", "3\n0 0 0\n1 0 0\n0 1\n1\n1 2 3\n", "mesh.poly:4: a vertex with 2 numbers, must be 3"},
        {"poly", "3\n0 0 0\n1 0 0\n0 1 1/0\n1\n1 2 3\n", "mesh.poly:4: \"1/0\" is not finite"},
        {"poly", "3\n1 0 0 0\n2 1 0 0\n4 0 1 0\n1\n1 2 3\n",
         "mesh.poly:4: vertex has index 4; 3 was expected"},
        {"poly", "3\n5 0 0 0\n", "mesh.poly:2: vertex has index 5; 1 was expected"},
        {"poly", "3\n1 2 3 4 5\n", "mesh.poly:2: a vertex with more than four numbers"},
        {"poly", "3\n0 0 0\n1 0 0\n0 1 0\n2\n1 2 3\n", "mesh.poly:6: ends after 1 of 2 faces"},
        {"poly", "3\n0 0 0\n1 0 0\n0 1 0\n1\n1 2\n", "mesh.poly:6: a face with 2 corners"},
        {"poly", "3\n0 0 0\n1 0 0\n0 1 0\n1\n1 2 4\n", "mesh.poly:6: vertex 4; there are 3"},
        {"poly", "3\n0 0 0\n1 0 0\n0 1 0\n1\n0 1 3\n", "mesh.poly:6: vertex 3; there are 3"},
        {"poly", "3\n0 0 0\n1 0 0\n0 1 0\n1\n1 2 2.5\n", "mesh.poly:6: \"2.5\" is not a whole number"},
        {"poly", "3\n0 0 0\n1 0 0\n0 1 0\n1\n1 2 3\n1 2 3\n", "mesh.poly:7: continues after the last face"},
        {"ply", "ply\n", "mesh.ply: not a mesh file: its name must end in .obj, .stl or .poly"},
    };
    for (size_t i = 0; i < sizeof files / sizeof *files; i++) {
        ss_error err = {0};
        ss_mesh *mesh = mesh_from_text(files[i].suffix, files[i].text, &err);
        if (mesh || !strstr(err.message, files[i].message)) fprintf(stderr, "%s\n", files[i].text);
        ENSURE(!mesh);
        ENSURE_CONTAINS(err.message, files[i].message);
        ENSURE(err.code == SS_ERROR_INPUT || err.code == SS_ERROR_USAGE);
    }
}

TEST(a_binary_file_that_is_cut_off_or_holds_nan_is_refused)
{
    char bytes[84 + 50] = "binary";
    const float not_a_number = NAN;
    scratch s = scratch_open();
    ss_error err = {0};
    bytes[80] = 1;
    ENSURE(!ss_mesh_read(mesh_file(&s, "stl", bytes, 130), &err));
    ENSURE_CONTAINS(err.message, "mesh.stl: is cut off: 1 triangles need 134 bytes, it has 130");
    memset(bytes + 80, 0xFF, 4);
    ENSURE(!ss_mesh_read(mesh_file(&s, "stl", bytes, sizeof bytes), &err));
    ENSURE_CONTAINS(err.message, "4294967295 triangles need 214748364834 bytes");
    memcpy(bytes + 80, "\1\0\0\0", 4);
    memcpy(bytes + 84 + 12 + 16, &not_a_number, sizeof not_a_number);
    ENSURE(!ss_mesh_read(mesh_file(&s, "stl", bytes, sizeof bytes), &err));
    ENSURE_CONTAINS(err.message, "mesh.stl: triangle 0: corner 1: y is nan");
    scratch_close(&s);
}

TEST(a_file_that_is_not_there_is_told_by_name)
{
    ss_error err = {0};
    ENSURE(!ss_mesh_read("no/such/file.obj", &err));
    ENSURE_CONTAINS(err.message, "no/such/file.obj: cannot be opened: No such file");
    ENSURE(!ss_mesh_read(".", &err));
    ENSURE(!ss_mesh_read("test.d/", &err));
}

TEST(lack_of_memory_while_reading_is_told_and_leaks_nothing)
{
    static const struct {
        const char *suffix;
        void (*write)(const ss_mesh *mesh, FILE *file);
    } formats[] = {
        {"obj", write_obj}, {"poly", write_poly}, {"stl", write_text_stl}, {"stl", write_binary_stl}};
    ss_mesh *mesh = ss_mesh_ball(2, 1.0, NULL);
    for (int i = 0; i < 4; i++)
        for (int n = 1;; n++) {
            ss_error err = {0};
            faults_start(n);
            ss_mesh *back = there_and_back(mesh, formats[i].suffix, formats[i].write, &err);
            ss_mesh_destroy(back);
            bool failed = faults_stop();
            ENSURE_INT(faults.live, 0);
            ENSURE(!back == failed);
            if (!failed) break;
            ENSURE_INT(err.code, SS_ERROR_RESOURCES);
        }
    ss_mesh_destroy(mesh);
}

TEST_MAIN
