function B = rpisim_edges(B)
% rpisim_edges  Edges of a closed mesh, [tail head face1 face2 angle], and tvecs: the vectors at right angles to each edge
% within its two faces, pointing into them.
  m = B.num_faces;
  tails = reshape(B.faces(:, 1:3)', [], 1);
  heads = reshape(B.faces(:, [2 3 1])', [], 1);
  face = reshape(repmat(1:m, 3, 1), [], 1);
  forward = tails < heads;
  n = max(max(B.faces(:, 1:3)));
  other = sparse(heads(~forward), tails(~forward), face(~forward), n, n);
  t = tails(forward);
  h = heads(forward);
  f1 = face(forward);
  f2 = full(other(sub2ind([n n], t, h)));
  good = f2 > 0;
  t = t(good);
  h = h(good);
  f1 = f1(good);
  f2 = f2(good);
  along = B.verts_local(h, :) - B.verts_local(t, :);
  along = along ./ repmat(sqrt(sum(along .^ 2, 2)), 1, 3);
  n1 = B.face_norms(f1, :);
  n2 = B.face_norms(f2, :);
  angle = acos(max(-1, min(1, sum(n1 .* n2, 2))));
  B.edges = [t, h, f1, f2, angle];
  B.tvecs = [cross(n1, along, 2), cross(along, n2, 2)];
  B.num_edges = size(B.edges, 1);
end
