/* The three readers of mesh files. The first byte chooses the format, the rest is the file. What is read must
 * be a whole mesh of numbers; whatever it is, it can be checked, weighed and made a shape of, or is refused
 * with a reason. */
#include "fuzz.h"

#include "model/geometry.h"
#include "model/mesh.h"
#include "model/mesh_read.h"

static void make_shape(const ss_mesh *mesh, ss_shape_kind kind)
{
    ss_error err = {0};
    ss_geometry *geometry = ss_geometry_create(&(ss_shape){.kind = kind, .mesh = mesh}, &err);
    must(geometry || (err.code != SS_OK && err.message[0]), "a mesh that is refused has a reason");
    if (geometry && geometry->hull) {
        const ss_hull *hull = geometry->hull;
        must(hull->vertex_count - hull->edge_count + hull->face_count == 2, "a hull is one solid");
    }
    ss_geometry_destroy(geometry);
}

static void look_at(ss_mesh *mesh)
{
    ss_findings findings = {.limit = 20};
    must(mesh->face_count > 0, "a mesh has faces");
    must(ss_mesh_indices_are_good(mesh, NULL), "corners are vertices, and these are finite");
    bool good = ss_mesh_check(mesh, "fuzz", &findings);
    must(good == (findings.count_of[SS_FINDING_FAULT] == 0), "a mesh is bad if and only if it has faults");
    ss_findings_free(&findings);
    ss_mesh_mass(mesh, 1.0);
    make_shape(mesh, SS_HULL);
    make_shape(mesh, SS_MESH);
    ss_mesh *hull = ss_mesh_hull((const double(*)[3])mesh->vertex, mesh->vertex_count, NULL);
    must(!hull || ss_mesh_indices_are_good(hull, NULL), "a hull is a mesh");
    ss_mesh_destroy(hull);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static ss_mesh *(*const parse[])(ss_mesh_text *, ss_error *) = {ss_mesh_parse_obj, ss_mesh_parse_stl,
                                                                    ss_mesh_parse_poly};
    if (size == 0) return 0;
    ss_mesh_text text = {.name = "fuzz", .at = (const char *)data + 1, .end = (const char *)data + size};
    ss_error err = {0};
    ss_mesh *mesh = parse[data[0] % 3](&text, &err);
    must(mesh || err.code == SS_ERROR_INPUT, "a file that is refused is bad input");
    must(mesh || strncmp(err.message, "fuzz:", 5) == 0, "a failure names the file");
    if (mesh) look_at(mesh);
    ss_mesh_destroy(mesh);
    return 0;
}
