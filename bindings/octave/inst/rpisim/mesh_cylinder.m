function B = mesh_cylinder(sides, mass, radius, height)
% B = mesh_cylinder(sides, mass, radius, height)   a prism with a regular polygon of this circumradius, along z
%
% Unlike in RPIsim, the mass is the body's mass, and the inertia that of the prism rather than of the cylinder around it:
% about z  mass radius^2 (2 + cos(2 pi / sides)) / 6,  across half of it and mass height^2 / 12.
%
% Its vertices are in RPIsim's order: centre and ring of the upper end, then of the lower one; vertices 1 and sides + 2 are
% the centres.
%
% Example:
%   wheel = mesh_cylinder(20, 1, 0.4, 0.2);
%   wheel.quat = qt([0 1 0], pi / 2);
%
% See also Body_mesh, mesh_rectangularBlock
  a = 0:sides - 1;
  next = [2:sides, 1];
  angle = 2 * pi * a / sides;
  ring = radius * [cos(angle); sin(angle)]';
  back = [1, sides:-1:2]; % the lower ring runs the other way
  up = repmat(height / 2, sides, 1);
  vertices = [0, 0, height / 2; ring, up; 0, 0, -height / 2; ring(back, :), -up];
  top = 2 + a';
  bottom = sides + 2 + back';
  lower = (sides + 2) * ones(sides, 1);
  faces = [ones(sides, 1), top, top(next)
           lower, bottom(next), bottom
           top, bottom, bottom(next)
           top, bottom(next), top(next)];
  B = body_setMass(Body_mesh(vertices, faces), mass);
  B.name = 'cylinder';
  B.radius = radius;
  B.height = height;
end
