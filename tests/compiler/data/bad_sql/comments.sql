-- only a comment
;;
