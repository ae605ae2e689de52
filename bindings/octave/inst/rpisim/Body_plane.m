function B = Body_plane(point, normal)
% B = Body_plane(point, normal)   a static half-space: everything on the side of the normal is outside
%
% Example:
%   ground = Body_plane([0; 0; 0], [0; 0; 1]);
%
% See also Body, Body_sphere, Body_mesh
  B = Body();
  B.name = 'plane';
  B.type = 'plane';
  B.dynamic = false;
  B.u = point(:);
  B.plane_normal = normal(:)' / norm(normal);
end
