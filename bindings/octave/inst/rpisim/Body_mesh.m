function B = Body_mesh(vertices, faces)
% B = Body_mesh(vertices, faces)   a closed triangle mesh: vertices n x 3, faces m x 3, counted from 1, outward by order
%
% Mass 1, as in RPIsim. Unlike there, the inertia is that of the solid with this mass, not the identity. As there, the
% origin is taken for the centre of mass: if it is not, mesh_centre moves the vertices.
%
% Static meshes may have any form. Dynamic ones touch others by their convex hull; sim_run warns about it.
%
% Example:
%   [v, f] = deal([0 0 0; 1 0 0; 0 1 0; 0 0 1], [1 3 2; 1 2 4; 1 4 3; 2 3 4]);
%   B = mesh_centre(Body_mesh(v, f));
%
% See also mesh_centre, mesh_read_poly_file, scale_mesh, mesh_cube
  B = Body();
  B.name = 'mesh';
  B.type = 'mesh';
  B.verts_local = vertices(:, 1:3);
  B.faces = [faces(:, 1:3), zeros(size(faces, 1), 1)];
  B.num_verts = size(vertices, 1);
  B.num_faces = size(faces, 1);
  [volume, centre, inertia] = stickslip_mex('mesh_mass', B.verts_local', B.faces(:, 1:3)');
  if volume > 0
    B.J = inertia / volume;
  else
    warning('stickslip:mesh', ['Body_mesh: volume %g: the mesh is not closed, or its faces are not counter-clockwise from ' ...
                               'outside; the inertia is the identity'], volume);
  end
  B.face_norms = zeros(B.num_faces, 3);
  for f = 1:B.num_faces
    v = B.verts_local(B.faces(f, 1:3), :);
    n = cross(v(2, :) - v(1, :), v(3, :) - v(1, :));
    B.face_norms(f, :) = n / norm(n);
  end
  B = rpisim_edges(B);
  B = body_updateMesh(B);
end
