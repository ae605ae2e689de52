function B = Body()
% B = Body()   a body of RPIsim with default properties, for the constructors
%
% Fields: name, type ('sphere', 'plane', 'mesh'), bodyID, dynamic, mass, u (3 x 1, centre of mass), quat (4 x 1, scalar
% first), J (3 x 3, body frame), nu (6 x 1, linear and angular, world frame), Fext (6 x 1, force and torque of yours,
% without gravity), mu, color, visible, collides, doesNotCollideWith, radius, plane_normal, verts_local, faces, ...
%
% Unlike in RPIsim, gravity is never written into Fext; it acts in addition.
%
% See also Body_sphere, Body_plane, Body_mesh, sim_addBody
  B = struct();
  B.name = 'body';
  B.type = 'generic';
  B.bodyID = 0;
  B.bodyContactID = 0;
  B.bodyDynamicID = 0;

  B.dynamic = true;
  B.active = false;
  B.mass = 1;
  B.u = zeros(3, 1);
  B.quat = [1; 0; 0; 0];
  B.J = eye(3);
  B.nu = zeros(6, 1);
  B.Fext = zeros(6, 1);
  B.Aext = zeros(6, 1);
  B.mu = 0.5;
  B.numJoints = 0;

  B.visible = true;
  B.graphicsHandle = [];
  B.color = [0 0 1];
  B.facealpha = 0.7;
  B.edgealpha = 1;
  B.AABB_min = zeros(1, 3);
  B.AABB_max = zeros(1, 3);
  B.collides = true;
  B.doesNotCollideWith = [];

  B.radius = 1;
  B.num_sphere_verts = 7;
  B.height = 1;
  B.plane_normal = [0 0 1];
  B.num_verts = 0;
  B.num_edges = 0;
  B.num_faces = 0;
  B.verts_local = [];
  B.verts_world = [];
  B.edges = [];
  B.tvecs = [];
  B.faces = [];
  B.face_norms = [];
end
