function B = body_updateMesh(B)
% B = body_updateMesh(B)   vertices in the world and bounding box of a body, from its position and orientation
%
% Example:
%   B = mesh_cube();
%   B.u = [0; 0; 1];
%   B = body_updateMesh(B);
%
% See also Body_mesh
  u = B.u(:)';
  if strcmp(B.type, 'mesh')
    B.verts_world = bsxfun(@plus, B.verts_local * qt2rot(B.quat)', u);
    B.AABB_min = min(B.verts_world, [], 1);
    B.AABB_max = max(B.verts_world, [], 1);
  elseif strcmp(B.type, 'sphere')
    B.AABB_min = u - B.radius;
    B.AABB_max = u + B.radius;
  end
end
