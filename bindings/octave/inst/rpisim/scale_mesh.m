function B = scale_mesh(B, s)
% B = scale_mesh(B, s)   the same solid, s times as large, of the same density
%
% Mass grows with s^3 and inertia with s^5; RPIsim multiplies both by s. If you want another mass, body_setMass follows.
%
% Example:
%   B = body_setMass(scale_mesh(mesh_icosahedron(), 0.5), 0.5);
%
% See also body_setMass, mesh_cube
  B.verts_local = B.verts_local * s;
  B.mass = B.mass * s ^ 3;
  B.J = B.J * s ^ 5;
  B = body_updateMesh(B);
end
