function B = body_setMass(B, mass)
% B = body_setMass(B, mass)   gives a body another mass, and the inertia that belongs to it
%
% Setting B.mass alone leaves B.J as it is, as in RPIsim. Not in RPIsim.
%
% Example:
%   box = body_setMass(mesh_cube(), 20);
%
% See also scale_mesh
  B.J = B.J * (mass / B.mass);
  B.mass = mass;
end
