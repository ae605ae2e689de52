function B = mesh_icosahedron()
% B = mesh_icosahedron()   a regular icosahedron with circumradius 1 and mass 1, J = 0.2895
%
% RPIsim has the inertia of edge length 1, 0.2618, which does not belong to this size.
%
% Example:
%   B = mesh_icosahedron();
%   B.u = [0; 0; 2];
%
% See also scale_mesh, Body_mesh
  [vertices, faces] = stickslip_mex('mesh_solid', 'icosahedron');
  B = Body_mesh(vertices', faces');
  B.name = 'icosahedron';
end
