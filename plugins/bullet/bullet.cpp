/* Bullet as collision detection: a plug-in whose hook "bullet" replaces our source of contacts.
 *
 *     stickslip run SCENE --collision bullet
 *
 * Every shape is a btCollisionObject. Bullet collects the points of a contact over several steps and keeps them
 * while they stay near, as in its own simulations; so contacts depend on the steps before, and a run that is
 * resumed from a checkpoint does not continue bit for bit. Points are found up to 2 % of the smaller shape
 * ahead. There are no ellipsoids: they are hulls of 642 vertices here. Meshes and heightfields are triangles.
 * Contacts have no features, so the simulator matches them from step to step by position.
 *
 * Built with double precision where Debian's libBulletCollision-float64 is installed. */
#include <stickslip/stickslip.h>

#include <btBulletCollisionCommon.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <map>
#include <memory>
#include <mutex>
#include <vector>

namespace
{

btVector3 vector(const double *v)
{
    return btVector3(btScalar(v[0]), btScalar(v[1]), btScalar(v[2]));
}

btTransform pose(const double *position, const double *q)
{
    bool none = q[0] == 0.0 && q[1] == 0.0 && q[2] == 0.0 && q[3] == 0.0;
    return btTransform(none ? btQuaternion::getIdentity()
                            : btQuaternion(btScalar(q[1]), btScalar(q[2]), btScalar(q[3]), btScalar(q[0])),
                       vector(position));
}

/* Which pairs may touch is ours to say. */
struct Filter : btOverlapFilterCallback {
    const ss_world *world = nullptr;
    bool needBroadphaseCollision(btBroadphaseProxy *a, btBroadphaseProxy *b) const override
    {
        auto *one = static_cast<btCollisionObject *>(a->m_clientObject),
             *two = static_cast<btCollisionObject *>(b->m_clientObject);
        return ss_world_may_touch(world, one->getUserIndex(), two->getUserIndex());
    }
};

struct State {
    btDefaultCollisionConfiguration configuration;
    btCollisionDispatcher dispatcher{&configuration};
    btDbvtBroadphase broadphase;
    btCollisionWorld world{&dispatcher, &broadphase, &configuration};
    Filter filter;
    std::vector<std::unique_ptr<btTriangleMesh>> triangles;
    std::vector<std::unique_ptr<btCollisionShape>> shapes;
    std::vector<std::unique_ptr<btCollisionObject>> objects;
    std::vector<ss_shape> made_of; // to see whether the world is still the same

    ~State()
    {
        for (auto &object : objects) world.removeCollisionObject(object.get());
    }
};

btCollisionShape *hull_of(const double (*vertex)[3], int count, const double scale[3])
{
    auto *hull = new btConvexHullShape;
    for (int i = 0; i < count; i++)
        hull->addPoint(btVector3(btScalar(vertex[i][0] * scale[0]), btScalar(vertex[i][1] * scale[1]),
                                 btScalar(vertex[i][2] * scale[2])),
                       false);
    hull->recalcLocalAabb();
    hull->setMargin(0); // it would make the hull larger
    hull->initializePolyhedralFeatures();
    return hull;
}

btCollisionShape *triangles_of(State &state, const ss_shape &shape)
{
    auto mesh = std::make_unique<btTriangleMesh>();
    if (shape.kind == SS_MESH) {
        for (int f = 0; f < shape.mesh->face_count; f++)
            mesh->addTriangle(vector(shape.mesh->vertex[shape.mesh->face[f][0]]),
                              vector(shape.mesh->vertex[shape.mesh->face[f][1]]),
                              vector(shape.mesh->vertex[shape.mesh->face[f][2]]));
    } else {
        auto corner = [&](int x, int y) {
            return btVector3(btScalar((x - 0.5 * (shape.nx - 1)) * shape.size[0]),
                             btScalar((y - 0.5 * (shape.ny - 1)) * shape.size[1]),
                             btScalar(shape.heights[y * shape.nx + x]));
        };
        for (int y = 0; y + 1 < shape.ny; y++)
            for (int x = 0; x + 1 < shape.nx; x++) {
                mesh->addTriangle(corner(x, y), corner(x + 1, y), corner(x + 1, y + 1));
                mesh->addTriangle(corner(x, y), corner(x + 1, y + 1), corner(x, y + 1));
            }
    }
    auto *made = new btBvhTriangleMeshShape(mesh.get(), true);
    made->setMargin(0);
    state.triangles.push_back(std::move(mesh));
    return made;
}

btCollisionShape *shape_of(State &state, const ss_shape &shape)
{
    static const double one[3] = {1.0, 1.0, 1.0};
    const double *s = shape.size;
    switch (shape.kind) {
    case SS_SPHERE:
        return new btSphereShape(btScalar(s[0]));
    case SS_PLANE:
        return new btStaticPlaneShape(btVector3(0, 0, 1), 0);
    case SS_BOX: {
        auto *box =
            new btBoxShape(btVector3(btScalar(0.5 * s[0]), btScalar(0.5 * s[1]), btScalar(0.5 * s[2])));
        box->setMargin(btScalar(std::min(0.04, 0.05 * std::min(s[0], std::min(s[1], s[2])))));
        box->initializePolyhedralFeatures();
        return box;
    }
    case SS_CAPSULE:
        return new btCapsuleShapeZ(btScalar(s[0]), btScalar(s[1]));
    case SS_CYLINDER: {
        auto *cylinder =
            new btCylinderShapeZ(btVector3(btScalar(s[0]), btScalar(s[0]), btScalar(0.5 * s[1])));
        cylinder->setMargin(btScalar(std::min(0.04, 0.05 * std::min(s[0], s[1]))));
        return cylinder;
    }
    case SS_ELLIPSOID: {
        ss_mesh *ball = ss_mesh_ball(3, 1.0, nullptr);
        if (!ball) return nullptr;
        btCollisionShape *made = hull_of(ball->vertex, ball->vertex_count, s);
        ss_mesh_destroy(ball);
        return made;
    }
    case SS_HULL:
        return hull_of(shape.mesh->vertex, shape.mesh->vertex_count, one);
    case SS_MESH:
    case SS_HEIGHTFIELD:
        return triangles_of(state, shape);
    case SS_SHAPE_KINDS:
        break;
    }
    return nullptr;
}

btTransform place_of(const ss_world *world, const ss_shape &shape)
{
    btTransform local = pose(shape.position, shape.quaternion);
    if (shape.body == SS_WORLD) return local;
    const ss_body *body = ss_world_body(world, shape.body);
    return pose(body->position, body->quaternion) * local;
}

std::unique_ptr<State> build(const ss_world *world)
{
    auto state = std::make_unique<State>();
    state->configuration.setConvexConvexMultipointIterations();
    state->configuration.setPlaneConvexMultipointIterations();
    state->world.getDispatchInfo().m_enableSatConvex = true;
    state->filter.world = world;
    state->world.getPairCache()->setOverlapFilterCallback(&state->filter);
    for (int i = 0; i < ss_world_shape_count(world); i++) {
        const ss_shape &shape = *ss_world_shape(world, i);
        btCollisionShape *made = shape_of(*state, shape);
        if (!made) return nullptr;
        state->shapes.emplace_back(made);
        auto object = std::make_unique<btCollisionObject>();
        object->setCollisionShape(made);
        object->setUserIndex(i);
        object->setWorldTransform(place_of(world, shape));
        state->world.addCollisionObject(object.get(), btBroadphaseProxy::DefaultFilter,
                                        btBroadphaseProxy::AllFilter);
        state->objects.push_back(std::move(object));
        state->made_of.push_back(shape);
    }
    return state;
}

bool still_fits(const State &state, const ss_world *world)
{
    if (state.filter.world != world || int(state.made_of.size()) != ss_world_shape_count(world)) return false;
    for (size_t i = 0; i < state.made_of.size(); i++) {
        const ss_shape &was = state.made_of[i], &is = *ss_world_shape(world, int(i));
        if (was.kind != is.kind || was.body != is.body || was.mesh != is.mesh || was.heights != is.heights ||
            std::memcmp(was.size, is.size, sizeof was.size) != 0)
            return false;
    }
    return true;
}

/* Simulations that use the hook. One whose world has changed, or is another at its place, starts again. */
std::map<const ss_sim *, std::unique_ptr<State>> states;
std::mutex guard;

State *state_of(ss_sim *sim)
{
    std::lock_guard<std::mutex> lock(guard);
    auto &state = states[sim];
    if (!state || !still_fits(*state, ss_sim_world(sim))) state = build(ss_sim_world(sim));
    return state.get();
}

void fill(const ss_world *world, const State &state, const btPersistentManifold &manifold, int k,
          ss_contact *to)
{
    const btManifoldPoint &point = manifold.getContactPoint(k);
    int a = manifold.getBody0()->getUserIndex(), b = manifold.getBody1()->getUserIndex();
    btVector3 normal = -point.m_normalWorldOnB; // from the first body to the second
    btVector3 middle = (point.getPositionWorldOnA() + point.getPositionWorldOnB()) * btScalar(0.5);
    if (a > b) {
        std::swap(a, b);
        normal = -normal;
    }
    const ss_shape &one = *ss_world_shape(world, a), &two = *ss_world_shape(world, b);
    btVector3 belt = state.objects[size_t(b)]->getWorldTransform().getBasis() * vector(two.surface_velocity) -
                     state.objects[size_t(a)]->getWorldTransform().getBasis() * vector(one.surface_velocity);
    *to = ss_contact{};
    to->shape_a = a;
    to->shape_b = b;
    to->body_a = one.body;
    to->body_b = two.body;
    double length = std::sqrt(double(normal.dot(normal)));
    for (int i = 0; i < 3; i++) {
        to->point[i] = middle[i];
        to->normal[i] = double(normal[i]) / length;
        to->surface_velocity[i] = belt[i];
    }
    to->gap = point.getDistance();
    to->material = ss_world_pair(world, one.material, two.material);
}

bool before(const ss_contact &x, const ss_contact &y)
{
    if (x.shape_a != y.shape_a) return x.shape_a < y.shape_a;
    if (x.shape_b != y.shape_b) return x.shape_b < y.shape_b;
    return std::lexicographical_compare(x.point, x.point + 3, y.point, y.point + 3);
}

bool find(ss_sim *sim, ss_arena *arena, ss_contact_list *contacts, void *, ss_error *err)
{
    const ss_world *world = ss_sim_world(sim);
    State *state = state_of(sim);
    if (!state) return ss_fail(err, SS_ERROR_RESOURCES, "Bullet: a shape cannot be made");
    for (size_t i = 0; i < state->objects.size(); i++)
        state->objects[i]->setWorldTransform(place_of(world, *ss_world_shape(world, int(i))));
    state->world.performDiscreteCollisionDetection();

    int count = 0;
    for (int m = 0; m < state->dispatcher.getNumManifolds(); m++)
        count += state->dispatcher.getManifoldByIndexInternal(m)->getNumContacts();
    auto *items =
        static_cast<ss_contact *>(ss_arena_take(arena, size_t(count) + 1, sizeof(ss_contact), "contacts"));
    if (!items) return ss_fail(err, SS_ERROR_RESOURCES, "Bullet: out of memory for %d contacts", count);
    count = 0;
    for (int m = 0; m < state->dispatcher.getNumManifolds(); m++) {
        const btPersistentManifold &manifold = *state->dispatcher.getManifoldByIndexInternal(m);
        // pairs that were near and may no longer touch stay in Bullet's cache for a while
        if (!ss_world_may_touch(world, manifold.getBody0()->getUserIndex(),
                                manifold.getBody1()->getUserIndex()))
            continue;
        for (int k = 0; k < manifold.getNumContacts(); k++) fill(world, *state, manifold, k, &items[count++]);
    }
    std::sort(items, items + count, before);
    contacts->count = count;
    contacts->items = items;
    return true;
}

bool use(ss_sim *sim, void *, ss_error *)
{
    ss_sim_replace_collision(sim, find, nullptr);
    return true;
}

ss_hook make_hook()
{
    ss_hook made{};
    made.name = "bullet";
    made.summary = "contacts by Bullet's collision detection instead of ours";
    made.at[SS_BEFORE_COLLISION] = use;
    return made;
}

const ss_hook hook = make_hook();
const ss_hook *const hooks[] = {&hook, nullptr};

ss_extension make_extension()
{
    ss_extension made{};
    made.abi = SS_ABI;
    made.name = "bullet";
    made.hooks = hooks;
    return made;
}

} // namespace

extern "C" const ss_extension ss_plugin = make_extension();
