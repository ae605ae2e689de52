function B = Body_sphere(mass, radius)
% B = Body_sphere(mass, radius)   a solid ball, J = 2/5 mass radius^2
%
% Unlike in RPIsim, the mass is the body's mass: there it stayed 1 and entered the inertia only.
%
% Example:
%   ball = Body_sphere(0.2, 0.1);
%   ball.u = [0; 0; 1];
%
% See also Body, Body_plane, Body_mesh, body_setMass
  B = Body();
  B.name = 'sphere';
  B.type = 'sphere';
  B.mass = mass;
  B.radius = radius;
  B.J = 0.4 * mass * radius ^ 2 * eye(3);
  B = body_updateMesh(B);
end
