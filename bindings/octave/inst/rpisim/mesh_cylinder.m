function B = mesh_cylinder(sides, mass, radius, height)
% B = mesh_cylinder(sides, mass, radius, height)   a prism with a regular polygon of this circumradius, along z
%
% Unlike in RPIsim, the mass is the body's mass, and the inertia that of the prism rather than of the cylinder around it:
% about z  mass radius^2 (2 + cos(2 pi / sides)) / 6,  across half of it and mass height^2 / 12.
%
% Example:
%   wheel = mesh_cylinder(20, 1, 0.4, 0.2);
%   wheel.quat = qt([0 1 0], pi / 2);
%
% See also Body_mesh, mesh_rectangularBlock
  [vertices, faces] = stickslip_mex('mesh_cylinder', sides, radius, height);
  B = body_setMass(Body_mesh(vertices', faces'), mass);
  B.name = 'cylinder';
  B.radius = radius;
  B.height = height;
end
